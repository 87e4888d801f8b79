package lower_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// FuzzLower changes schedules of the catalog: each pair of bytes sets one field to one
// of its values, or to nonsense. What comes of it is a program that can be printed,
// or mistakes that each name a field.
func FuzzLower(f *testing.F) {
	for i := range catalog.All() {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{0, 2, 1, 1, 8, 3})
		f.Add(uint8(i), []byte{20, 1, 21, 0, 24, 9})
	}
	f.Fuzz(func(t *testing.T, from uint8, changes []byte) {
		s := changed(catalog.All()[int(from)%len(catalog.All())].Schedule, changes)
		p, err := lower.Lower("X", s)
		if err == nil {
			_ = hostir.Print(p)
			return
		}
		fields := schedule.FieldErrors(err)
		if len(fields) == 0 {
			t.Errorf("no field is named: %v", err)
		}
		for _, e := range fields {
			if e.Path == "" || e.Msg == "" {
				t.Errorf("an empty mistake: %#v", e)
			}
		}
	})
}

// changed sets fields of a copy of the schedule.
func changed(s schedule.Schedule, changes []byte) schedule.Schedule {
	s.Tensors = append([]schedule.Tensor(nil), s.Tensors...)
	for i := range s.Tensors {
		s.Tensors[i].Axes = append([]schedule.Axis(nil), s.Tensors[i].Axes...)
	}
	p, tr, st := &s.Pipeline, &s.Transport, &s.Streams
	for ; len(changes) >= 2; changes = changes[2:] {
		v := changes[1]
		switch changes[0] % 26 {
		case 0:
			pick(&p.Kind, v, schedule.PointToPoint, schedule.Collective, schedule.Broadcast, schedule.OneShot, schedule.TwoShot, schedule.Padded)
		case 1:
			pick(&p.Order, v, schedule.Shift, schedule.Ring)
		case 2:
			pick(&p.Direction, v, schedule.Forward, schedule.Backward, schedule.Both)
		case 3:
			pick(&p.Protocol, v, schedule.Get, schedule.Put)
		case 4:
			pick(&p.Own, v, schedule.First, schedule.Last)
		case 5:
			pick(&p.OwnShard, v, schedule.InPlace, schedule.Copied)
		case 6:
			pick(&p.Signals, v, schedule.Batched, schedule.InStep)
		case 7:
			pick(&p.Products, v, schedule.PerShard, schedule.Grouped)
		case 8:
			pick(&p.Reduction, v, schedule.AtEnd, schedule.InSlot, schedule.InProduct, schedule.InKernel)
		case 9:
			p.Chunks = int(int8(v))
		case 10:
			p.Parts = int(int8(v))
		case 11:
			pick(&tr.Copy, v, schedule.CopyEngine, schedule.CopyKernel)
		case 12:
			pick(&tr.Signal, v, schedule.StreamMemOp, schedule.SignalKernel)
		case 13:
			pick(&tr.Steps, v, schedule.Separate, schedule.Fused)
		case 14:
			st.Compute = int(int8(v))
		case 15:
			pick(&st.Copy, v, schedule.Apart, schedule.WithStep)
		case 16:
			pick(&st.Start, v, schedule.Hoisted, schedule.InLoop)
		case 17:
			pick(&st.Handles, v, schedule.Hoisted, schedule.InLoop)
		case 18:
			pick(&s.Op, v, schedule.Matmul, schedule.Linear, schedule.Gradient, schedule.MLP, schedule.Copy, schedule.Sum)
		case 19:
			s.Tensors = s.Tensors[:int(v)%(len(s.Tensors)+1)]
		default:
			changeTensor(&s, changes[0]%26-20, v)
		}
	}
	return s
}

// changeTensor changes one of the tensors that v chooses.
func changeTensor(s *schedule.Schedule, what, v byte) {
	if len(s.Tensors) == 0 {
		return
	}
	t := &s.Tensors[int(v)%len(s.Tensors)]
	v /= 4
	if what == 0 {
		t.Root = v%2 == 1
		return
	}
	if what == 1 {
		pick(&t.Name, v, "A", "B", "Bias", "C", "B2", "C2", "Bias2", "B3", "C3", "Gathered")
		return
	}
	if len(t.Axes) == 0 {
		return
	}
	a := &t.Axes[int(v)%len(t.Axes)]
	v /= 2
	switch what {
	case 2:
		pick(&a.Extent, v, schedule.M, schedule.K, schedule.N, schedule.F, schedule.D, schedule.N2, "1", "7", "0", "9223372036854775807")
	case 3:
		a.Outer = append([]schedule.Split{splits[int(v)%len(splits)]}, a.Outer...)
	case 4:
		a.Outer = append(append([]schedule.Split(nil), a.Outer...), splits[int(v)%len(splits)])
	case 5:
		if len(a.Outer) > 0 {
			a.Outer = a.Outer[1:]
		}
	}
}

var splits = []schedule.Split{
	schedule.DIDx(schedule.D), schedule.Stream(schedule.D), schedule.Stream("2"), schedule.Stream("9223372036854775807"),
	{Kind: schedule.Plain, Count: "2"}, {Kind: schedule.Plain, Count: schedule.D}, {Kind: schedule.DeviceX, Count: "4"},
	{Kind: schedule.DeviceX, Count: schedule.D, Shift: 1}, {Kind: schedule.DeviceX, Count: schedule.D, Shift: -1 << 63},
	{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true}, {}, {Kind: schedule.DeviceX, Count: schedule.D, Shift: 1, Uneven: true},
	{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true, Most: schedule.P}, {Kind: schedule.DeviceX, Count: schedule.D, Uneven: true, Most: "3"},
}

// pick sets a field to a value, to nothing or to nonsense.
func pick[T ~string](field *T, v byte, values ...T) {
	*field = append(values, "", "nonsense")[int(v)%(len(values)+2)]
}
