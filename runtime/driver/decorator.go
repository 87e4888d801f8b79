package driver

// Decorator forwards all calls to another driver, and its optional interfaces. Embed it, and replace methods.
type Decorator struct{ Driver }

// Collectives returns the collectives of the decorated driver.
func (d Decorator) Collectives() (Collectives, error) { return CollectivesOf(d.Driver) }

// Captures returns the captures of the decorated driver.
func (d Decorator) Captures() (Captures, bool) { return CapturesOf(d.Driver) }
