package driver

// Remembers is what a Driver may have besides: it keeps what it has measured of products, for later processes.
type Remembers interface {
	// Remember names the folder of its files, or is "off" for none. It comes before the first product; without it,
	// and where it is empty, the driver chooses.
	Remember(folder string)
}
