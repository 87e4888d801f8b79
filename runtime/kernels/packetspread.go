package kernels

// Spreads reports whether the kernel sends the sum of the packets that land to all ranks.
func (k Kernel) Spreads() bool { return k.Kind.Work() == LandsTwice }
