package driver

import (
	"fmt"
	"slices"
	"sync"
)

// Backend opens the devices of one kind of driver.
type Backend interface {
	// Count returns the number of devices that this process sees; an error wraps ErrUnavailable and has the reason.
	Count() (int, error)
	// Open makes a Driver of a device by its ordinal. A context of zero means the device's primary context; any other
	// context is used as it is and left open.
	Open(ordinal int, context uintptr) (Driver, error)
}

var backends = struct {
	sync.Mutex
	byName map[string]Backend
}{byName: map[string]Backend{}}

// Register makes a backend available under a name. Packages cuda and sim do so when they are imported.
func Register(name string, b Backend) {
	backends.Lock()
	defer backends.Unlock()
	backends.byName[name] = b
}

// Lookup returns the backend of the given name; the error lists the backends that this binary holds.
func Lookup(name string) (Backend, error) {
	backends.Lock()
	defer backends.Unlock()
	if b := backends.byName[name]; b != nil {
		return b, nil
	}
	var names []string
	for n := range backends.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("look up driver %q: this binary has %v: %w", name, names, ErrUnavailable)
}
