// Tests of the Persistence plugin.
