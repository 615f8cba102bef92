// TOMLDocument: a TOML file as values that know where they stand in it.
