// Tests of TaskRuntime.
