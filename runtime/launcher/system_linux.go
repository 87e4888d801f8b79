package launcher

// Supported is nil: ranks run on Linux.
func Supported() error { return nil }
