package lower

import "ovgen/schedule"

var naives = []lowering{
	intoCallers(by(gather, func(d *draft, w schedule.Naive) error {
		if !w.Copied && !w.SignalsInStep && !w.StartInLoop && !w.HandlesInLoop {
			return &schedule.FieldError{Path: d.at(), Msg: "a Naive without a mistake is a Pull",
				Hint: "use schedule.Pull"}
		}
		d.with.copied, d.with.inStep = w.Copied, w.SignalsInStep
		d.with.startInLoop, d.with.handlesInLoop = w.StartInLoop, w.HandlesInLoop
		d.with.compute, d.with.withStep = w.Streams, w.WithStep
		if d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine); d.edge.Carrier.Fused && w.SignalsInStep {
			return d.noKernel("By")
		}
		return gatherShift(d)
	})),
}
