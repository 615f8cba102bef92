"""Tests of trestle_bridge: `python3 -m unittest` in the folder above."""
