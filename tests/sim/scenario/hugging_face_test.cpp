// The reader of config.json.
