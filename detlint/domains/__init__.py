"""Abstract values: what code comes to, one domain a file. The room asks the IR and the model."""
