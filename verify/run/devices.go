package run

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"ovgen/runtime/driver"
	"ovgen/runtime/fabric"
	"ovgen/runtime/fabric/follows"
	"ovgen/verify/harness"
)

// devicesCommand prints the devices of the driver and the links between them.
type devicesCommand struct {
	ranks   int
	counted bool // the number of ranks was given
	driver  string
}

func (o *devicesCommand) bind(f *flag.FlagSet) {
	f.IntVar(&o.ranks, "ranks", 4, "")
	f.StringVar(&o.driver, "driver", "", "")
	f.Bool("devices", true, "")
}

func (o *devicesCommand) settle(f *flag.FlagSet, names []string, _ []harness.Program) error {
	o.counted = given(f, "ranks")
	switch {
	case len(names) > 0:
		return errors.New("list takes no name")
	case o.ranks < 1:
		return fmt.Errorf("-ranks %d: at least 1", o.ranks)
	}
	return checkDriver(o.driver)
}

func (o *devicesCommand) run(*driver.Code) int {
	if err := o.list(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, complaint+"%v\n", err)
		return exitTrouble
	}
	return exitRight
}

func (o *devicesCommand) list(to io.Writer) (err error) {
	name := o.driver
	if name == "" || name == "auto" {
		name = "cuda"
	}
	b, err := driver.Lookup(name)
	if err != nil {
		return err
	}
	n, err := b.Count()
	if err != nil {
		return err
	}
	if name == "sim" || o.counted { // the simulator has any number of devices
		n = min(n, o.ranks)
	}
	var list []driver.Driver
	defer func() {
		for _, d := range list {
			err = errors.Join(err, d.Close())
		}
	}()
	for i := range n {
		d, err := b.Open(i, 0)
		if err != nil {
			return err
		}
		list = append(list, d)
	}
	printDevices(to, list)
	return nil
}

func printDevices(to io.Writer, list []driver.Driver) {
	links := make(fabric.Fabric, len(list))
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "device\tname\tmemory")
	for i := range list {
		fmt.Fprintf(w, "\t%d", i)
	}
	for i, from := range list {
		p := from.Properties()
		fmt.Fprintf(w, "\n%d\t%s\t%.0f GiB", i, p.Name, float64(p.Memory)/(1<<30))
		for j, to := range list {
			l := fabric.Self
			if i != j {
				l, _ = fabric.Read(from, to.Properties().UUID) // it is unknown where there is an error
			}
			links[i] = append(links[i], l)
			fmt.Fprintf(w, "\t%s", l)
		}
	}
	fmt.Fprintln(w)
	w.Flush()
	for _, line := range follows.Lines(links) {
		fmt.Fprintln(to, line)
	}
}
