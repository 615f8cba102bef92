// Tests of trestled.
