"""What is known of values: in what order they come, what varies from run to run, what they are. A domain asks the IR, the model and the
catalog, and is asked by the checks."""
