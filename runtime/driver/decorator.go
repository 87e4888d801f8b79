package driver

// Decorator forwards all calls to another driver, and its optional interfaces. Embed it, and replace methods.
type Decorator struct{ Driver }

// Collectives returns the collectives of the decorated driver.
func (d Decorator) Collectives() (Collectives, error) { return CollectivesOf(d.Driver) }

// Decorated returns the decorated driver.
func (d Decorator) Decorated() Driver { return d.Driver }

// Optional returns a driver as one of its optional interfaces, such as Captures, or the driver that it decorates; ok is
// false where neither has it.
func Optional[T any](d Driver) (t T, ok bool) {
	if t, ok = d.(T); ok {
		return t, true
	}
	if x, decorates := d.(interface{ Decorated() Driver }); decorates {
		return Optional[T](x.Decorated())
	}
	return t, false
}
