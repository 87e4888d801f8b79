package driver

// Remembers is an optional interface of a Driver: it keeps its measurements of products for later processes.
type Remembers interface {
	// Remember names the folder of the driver's files, or is "off" for none. It is called before the first product. If
	// it is not called, or the folder is empty, the driver chooses the folder.
	Remember(folder string)
}
