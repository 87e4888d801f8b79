package group

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launcher"
)

// auto is the backend that stands for cuda, else sim.
const auto = "auto"

// resolve fills in the values of the environment and the defaults.
func (c Config) resolve() (Config, error) {
	var errs []error
	if c.Size == 0 {
		p, err := launcher.FindPlace()
		if err != nil {
			errs = append(errs, err)
		}
		c.Rank, c.Size, c.place, c.Job = p.Rank, p.Size, &p, cmp.Or(c.Job, p.Job)
	}
	if c.Job = cmp.Or(c.Job, os.Getenv(launcher.EnvJob)); c.Job == "" && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("no job name "+
			"(set Config.Job or %s to the same on all ranks of one start)", launcher.EnvJob))
	}
	c.Backend = cmp.Or(c.Backend, os.Getenv(launcher.EnvDriver), "cuda")
	c.Arena, c.Graphs = cmp.Or(c.Arena, DefaultArena), cmp.Or(c.Graphs, DefaultGraphs)
	if least := leastSymmetric(c.Size); c.Symmetric < 0 || c.Symmetric > 0 && c.Symmetric < least {
		errs = append(errs, fmt.Errorf("symmetric memory of %d bytes (0 for none, or at least %d)", c.Symmetric, least))
	}
	if c.Arena < leastArena {
		errs = append(errs, fmt.Errorf("an arena of %d bytes (at least %d)", c.Arena, leastArena))
	}
	if c.Graphs < 0 {
		errs = append(errs, fmt.Errorf("Config.Graphs is %d (leave it 0 for the default, %d)", c.Graphs, DefaultGraphs))
	}
	var err error
	c.dump, err = dumpBy(cmp.Or(c.Dump, os.Getenv(launcher.EnvDump)), c.DumpTo)
	errs = append(errs, err, c.bound())
	if c.Check = c.Check || os.Getenv(launcher.EnvCheck) != ""; c.Check && checker == nil {
		errs = append(errs, fmt.Errorf("%s, or Config.Check, is set, and this program does not link the package that "+
			"compares operands (import runtime/alike)", launcher.EnvCheck))
	}
	if _, err := driver.Lookup(c.Backend); err != nil && c.Driver == nil && c.Backend != auto {
		errs = append(errs, err)
	}
	if c.Network == nil {
		network, err := meeting()
		c.Network = network
		errs = append(errs, err)
	}
	if host := os.Getenv(launcher.EnvHost); c.Host == "" && host != "" {
		c.Host = host
		errs = append(errs, os.Setenv("NCCL_HOSTID", host)) // NCCL then takes the rank to be on this host too
	}
	if c.Devices != nil && len(c.Devices) != c.Size {
		errs = append(errs, fmt.Errorf("%d devices for %d ranks", len(c.Devices), c.Size))
	}
	return c, errors.Join(errs...)
}

// meeting is the network that the environment asks for: one of several machines, or this machine's.
func meeting() (store.Network, error) {
	address, token := launcher.Address(), os.Getenv(launcher.EnvToken)
	if address == "" {
		return store.Unix(), nil
	}
	if file := os.Getenv(launcher.EnvTokenFile); token == "" && file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return store.Unix(), fmt.Errorf("read the token of %s: %w", launcher.EnvTokenFile, err)
		}
		token = strings.TrimSpace(string(text))
	}
	n, err := store.TCP(address, token)
	if err != nil {
		return store.Unix(), fmt.Errorf("%w (set %s, and %s, or %s to a file that holds it)", err, launcher.EnvAddress,
			launcher.EnvToken, launcher.EnvTokenFile)
	}
	return n, nil
}

// bound checks the timeouts and fills in their defaults.
func (c *Config) bound() error {
	var errs []error
	standard := DefaultTimeout
	for _, b := range []struct {
		name  string
		bound *time.Duration
	}{{"Timeout", &c.Timeout}, {"JoinTimeout", &c.JoinTimeout}, {"CallTimeout", &c.CallTimeout},
		{"RunTimeout", &c.RunTimeout}} {
		if *b.bound < 0 {
			errs = append(errs, fmt.Errorf("Config.%s is %v (leave it 0 for the default, %v)", b.name,
				*b.bound, standard))
			*b.bound = standard
		}
		*b.bound = cmp.Or(*b.bound, standard)
		standard = c.Timeout
	}
	return errors.Join(errs...)
}

// candidates are the backends to try, in order.
func (c Config) candidates() []string {
	if c.Driver != nil {
		return []string{c.Driver.Name()}
	}
	if c.Backend == auto {
		return []string{"cuda", "sim"}
	}
	return []string{c.Backend}
}

// device is the ordinal of this rank's device.
func (c Config) device() int {
	if c.Devices != nil {
		return c.Devices[c.Rank]
	}
	if c.place != nil {
		return c.place.Local
	}
	return c.Rank
}

// openDriver opens this rank's device of a backend. An error wraps
// driver.ErrUnavailable where the backend can't serve the group at all.
func (c Config) openDriver(name string) (driver.Driver, error) {
	if c.Driver != nil {
		return c.Driver, nil
	}
	b, err := driver.Lookup(name)
	if err != nil {
		return nil, err
	}
	n, err := b.Count()
	if err != nil {
		return nil, fmt.Errorf("count %s devices: %w", name, err)
	}
	need, device := c.Size, c.device()
	switch {
	case c.Devices != nil:
		need = slices.Max(c.Devices) + 1
	case c.Host != "" && n > 0: // hosts that one machine plays share its devices
		need, device = 1, device%n
	case store.Spans(c.Network): // some of the ranks are elsewhere
		need = device + 1
	}
	if n < need {
		return nil, fmt.Errorf("%s has %d devices, %d are needed: %w", name, n, need, driver.ErrUnavailable)
	}
	d, err := b.Open(device, c.Context)
	if err != nil {
		return nil, fmt.Errorf("open %s device %d: %w", name, device, err)
	}
	if r, ok := d.(driver.Remembers); ok {
		r.Remember(c.Cache)
	}
	if c.Decorate != nil {
		d = c.Decorate(d)
	}
	return d, nil
}

// choice describes the chosen driver, and why each driver before it was not chosen.
func (c Config) choiceText(name string, refused []string) string {
	switch {
	case c.Driver != nil:
		return name + " (the caller's)"
	case c.Backend != auto:
		return name + " (asked for)"
	case len(refused) > 0:
		return fmt.Sprintf("%s (auto: %s)", name, strings.Join(refused, "; "))
	}
	return fmt.Sprintf("%s (auto: %d devices with peer access)", name, c.Size)
}
