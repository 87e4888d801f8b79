package ops

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Fits returns the reason why New would not take the case.
func (c Case) Fits(p *hostir.Program) error {
	if c.Ranks < 1 {
		return fmt.Errorf("%d ranks: at least 1", c.Ranks)
	}
	if c.Hosts > 1 && !slices.Contains(p.HostsOf(c.Ranks), c.Hosts) {
		return fmt.Errorf("%d ranks on %d hosts: the schedule takes %v", c.Ranks, c.Hosts, p.HostsOf(c.Ranks))
	}
	if err := c.constants(p); err != nil {
		return err
	}
	env := c.Env(p)
	for _, name := range Symbols(p) {
		switch x, given := c.Extents[name]; {
		case !given:
			return fmt.Errorf("it needs the extent %s", name)
		case x < 1:
			return fmt.Errorf("%s is %d: it must be positive", name, x)
		}
	}
	for _, d := range p.Checks {
		x, err := c.Extent(d.Extent)
		if err != nil {
			return err
		}
		if d.With != "" {
			y, err := c.Extent(d.With)
			if err != nil {
				return err
			}
			if by := d.Divisor(int64(c.Ranks), env["W"]); !d.Holds(x, y, int64(c.Ranks), env["W"]) {
				return fmt.Errorf("%s times %s is %d times %d: it must be a multiple of %s", d.Extent, d.With, x, y,
					multipleOf(d, by))
			}
			continue
		}
		if by := d.Divisor(int64(c.Ranks), env["W"]); by < 1 || x%by != 0 {
			return fmt.Errorf("%s: it must be a multiple of %s", named(d.Extent, x), multipleOf(d, by))
		}
	}
	return nil
}

// constants refuses a value for a symbol if the schedule has another constant for it.
func (c Case) constants(p *hostir.Program) error {
	values := p.Schedule.Constants()
	for _, symbol := range slices.Sorted(maps.Keys(values)) {
		if x, n := c.Extents[string(symbol)], values[symbol]; x != 0 && x != n {
			return fmt.Errorf("%s is %d, and the schedule has the constant %d for it (leave it out)", symbol, x, n)
		}
	}
	return nil
}

// named is "M is 4100" or, for a constant, "the extent 4100".
func named(e schedule.Extent, value int64) string {
	if string(e) == strconv.FormatInt(value, 10) {
		return "the extent " + string(e)
	}
	return fmt.Sprintf("%s is %d", e, value)
}

// multipleOf is a divisor in words: "8 times the ranks, 32".
func multipleOf(d hostir.Divide, by int64) string {
	switch {
	case d.By == schedule.D && d.Times > 1:
		return fmt.Sprintf("%d times the ranks, %d", d.Times, by)
	case d.By == schedule.D:
		return fmt.Sprintf("the ranks, %d", by)
	}
	return strconv.FormatInt(by, 10)
}

// Symbols lists the symbols in the extents of a program's tensors, without D.
func Symbols(p *hostir.Program) []string {
	var list []string
	add := func(e schedule.Extent) {
		if of, _, blocks := e.Blocks(); blocks {
			e = of
		}
		name := string(e)
		if name != "D" && strings.Trim(name, "0123456789") != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, t := range p.Schedule.Tensors {
		for _, a := range t.Axes {
			add(a.Extent)
			for _, s := range a.Outer {
				add(s.Most)
			}
		}
	}
	return list
}
