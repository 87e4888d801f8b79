package driver

// Remembers is an optional interface of a Driver: it keeps its measurements of products for later processes.
type Remembers interface {
	// Remember names the folder of its files, or is "off" for none. It comes before the first product; without it,
	// and where it is empty, the driver chooses.
	Remember(folder string)
}
