package lower

// linked leaves the program to the writer of the chain, which waits for the ways of all communications.
func linked(*draft) error { return nil }
