"""The rule engine: what the program says at a site, held against the catalog's conditions. No catalog data here."""
