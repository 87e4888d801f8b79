package lower

// linked keeps the options of a chain's way for its writer.
func linked(d *draft) error {
	d.link(legOptions{carriage: d.with.carriage})
	return nil
}

// linkedShot is linked for sums by one kernel, which needs all partial results at once.
func linkedShot(d *draft) error {
	for _, s := range d.chain.stages {
		if s.sums == d.of && s.gathers {
			return d.refusal("Signals", "use schedule.LayerSlots, or leave it out",
				"the rows of %s come one rank's after the other", s.input)
		}
	}
	d.link(legOptions{carriage: d.with.carriage, shot: true})
	return nil
}

// link keeps options; the passes that look for steps by what they do leave a chain alone.
func (d *draft) link(o legOptions) {
	if d.leg == nil {
		d.leg = map[string]legOptions{}
	}
	d.leg[d.of], d.with.carriage = o, carriage{}
}
