package run

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ovgen/runtime/driver"
)

// link is what one device can do with the memory of another.
type link string

const (
	self    link = "-"
	nvlink  link = "nvlink" // maps it, and the link carries atomic operations
	mapped  link = "mapped" // maps it by another link, as PCIe
	apart   link = "none"   // has no access
	unknown link = "?"
)

// listDevices prints the devices of the driver and what joins them.
func (o *options) listDevices(to io.Writer) (err error) {
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
	if name == "sim" || o.counted { // the simulator has as many as anyone wants
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
	table := make([][]link, len(list))
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "device\tname\tmemory")
	for i := range list {
		fmt.Fprintf(w, "\t%d", i)
	}
	for i, from := range list {
		p := from.Properties()
		fmt.Fprintf(w, "\n%d\t%s\t%.0f GiB", i, p.Name, float64(p.Memory)/(1<<30))
		for j, to := range list {
			l := self
			if i != j {
				l = joined(from, to.Properties().UUID)
			}
			table[i] = append(table[i], l)
			fmt.Fprintf(w, "\t%s", l)
		}
	}
	fmt.Fprintln(w)
	w.Flush()
	for _, line := range follows(table) {
		fmt.Fprintln(to, line)
	}
}

// joined is what joins a device to another.
func joined(d driver.Driver, peer driver.UUID) link {
	can, err := d.DeviceCanAccessPeer(peer)
	if err != nil {
		return unknown
	}
	if !can {
		return apart
	}
	switch n, err := d.DeviceGetP2PAttribute(driver.NativeAtomics, peer); {
	case err != nil:
		return unknown
	case n == 1:
		return nvlink
	}
	return mapped
}

// follows says what programs run on devices that are joined so.
func follows(table [][]link) []string {
	pairs := map[link][]string{}
	for i, row := range table {
		for j, l := range row[:i] {
			if worse := table[j][i]; place[worse] > place[l] { // the two directions may differ
				l = worse
			}
			pairs[l] = append(pairs[l], fmt.Sprintf("%d-%d", j, i))
		}
	}
	if len(table) > 1 && len(pairs) == 1 && pairs[nvlink] != nil {
		return []string{"NVLink joins every pair: every program runs."}
	}
	var lines []string
	for _, x := range []struct {
		link
		what string
	}{
		{nvlink, "NVLink: every program runs between them"},
		{mapped, "access without NVLink: programs that put into peers' memory and signal that by stream memory " +
			"operations are refused (plan.LinkError)"},
		{apart, "no access: a group with both joins by Config.Apart, and runs programs by NCCL alone"},
		{unknown, "not known: CUDA answers with an error"},
	} {
		if list := pairs[x.link]; list != nil {
			lines = append(lines, strings.Join(list, ", ")+": "+x.what+".")
		}
	}
	return lines
}

// place orders links, the best first.
var place = map[link]int{nvlink: 1, mapped: 2, apart: 3, unknown: 4}
