// Tests of TaskKit.
