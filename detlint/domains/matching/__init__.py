"""Which entries of the catalog a site fulfils: its name, its arguments, the versions and the hardware that its file is judged for."""
