"""Rules: what the program says at a site, or a run has come to, against the catalog; and how severe that is. No catalog data here."""
