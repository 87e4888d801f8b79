package driver

// Decorator is a driver by another one, with the optional interfaces of that one. Embed it, and replace methods.
type Decorator struct{ Driver }

// Collectives are the driver's.
func (d Decorator) Collectives() (Collectives, error) { return CollectivesOf(d.Driver) }

// Captures are the driver's.
func (d Decorator) Captures() (Captures, bool) { return CapturesOf(d.Driver) }
