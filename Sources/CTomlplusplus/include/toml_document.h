/* toml++, behind a C face. */
