package literal

// Makes says that the results of a function of package schedule are read.
func Makes(name string) bool { return made[name] != nil }
