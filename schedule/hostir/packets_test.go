package hostir_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// A kernel of packets sends views of its own rank, one for each, and adds tensors to the sum of what lands.
func TestPackets(t *testing.T) {
	main, to := hostir.Stream("main"), hostir.Buffer{Name: "landed", Lands: hostir.Landing{Flags: "arrived"}}
	each, c, r, none := hostir.Whole("A").EachRank(), hostir.Whole("C"), hostir.Whole("R"), hostir.View{}
	with := func(s hostir.Step, change func(*hostir.Step)) hostir.Step {
		change(&s)
		return s
	}
	norm := schedule.RMSNorm("w").Tree()
	rows := func(x string, e schedule.Expr) hostir.Step {
		made := hostir.MakeOf(main, "f", []schedule.Expr{e}, hostir.Const(8), hostir.Whole("Y"), hostir.Whole(x),
			hostir.Whole("w"))
		return of(hostir.SumPackets(main, c, to, each, r), func(p *hostir.Packets) { p.Then = made.Do.(hostir.Apply) })
	}
	then := func(x string, e schedule.Expr) hostir.Step {
		behind := rows(x, e)
		return of(rows("C", norm), func(p *hostir.Packets) {
			p.Then.Then = []hostir.Apply{behind.Do.(hostir.Packets).Then}
			p.Then.Then[0].To = hostir.Whole("Z")
		})
	}
	quantise := schedule.Quantise().Tree()
	codes := func(s hostir.Step, first bool) hostir.Step {
		return of(s, func(p *hostir.Packets) {
			last := &p.Then.Then[0]
			last.Scales, last.Operands = hostir.Whole("S"), last.Operands[:len(schedule.Operands(last.Nodes()))]
			if first {
				p.Then.Scales, p.Then.Makes = hostir.Whole("S2"), append(p.Then.Makes, quantise)
			}
		})
	}
	for _, test := range []struct {
		name  string
		step  hostir.Step
		wrong string
	}{
		{"eight bits of a norm", codes(then("Y", quantise), false), ""},
		{"eight bits of eight", codes(then("Y", quantise), true), "without scales"},
		{"scales of a norm", codes(then("Y", norm), false), "what the last formula divides each row by"},
		{"a norm of a norm", then("Y", norm), ""},
		{"a norm of the sum behind a norm", then("C", norm), "what others of rows as long make"},
		{"each element of a norm", then("Y", schedule.Modulate("w", "w").Tree()), "what others of rows as long make"},
		{"a sum", hostir.SumPackets(main, c, to, each), ""},
		{"a sum and a tensor", hostir.SumPackets(main, c, to, each, r), ""},
		{"a norm of the sum", rows("C", norm), ""},
		{"a norm of another tensor", rows("R", norm), "formulas of rows say of its sum"},
		{"a function of each element", rows("C", schedule.Modulate("w", "w").Tree()),
			"formulas of rows say of its sum"},
		{"a gather", hostir.GatherPackets(main, c, to, each), ""},
		{"a tensor of each rank's", hostir.SumPackets(main, c, to, each, r.EachRank()), "tensors of its own rank"},
		{"a peer's tensor", hostir.SumPackets(main, c, to, each, r.At(hostir.Const(1))), "tensors of its own rank"},
		{"one view", hostir.SumPackets(main, c, to, hostir.Whole("A")), "a view for each rank"},
		{"a peer's views", hostir.SumPackets(main, c, to, each.At(hostir.Var("q"))), "a view for each rank"},
		{"a gather of one view", hostir.GatherPackets(main, c, to, hostir.Whole("A")), "a view for each rank"},
		{"no landing", of(hostir.SumPackets(main, c, to, each), func(x *hostir.Packets) { x.Landing = none }),
			"its result and its landing"},
		{"no result", of(hostir.GatherPackets(main, c, to, each), func(x *hostir.PacketGather) { x.To = none }),
			"its result and its landing"},
		{"the whole grid", with(hostir.SumPackets(main, c, to, each), func(s *hostir.Step) {
			s.ByBlocks = false
		}), "each for itself"},
	} {
		checked(t, test.name, test.step, test.wrong)
	}
	one, two := hostir.SumPackets(main, c, to, each), hostir.SumPackets(main, c, to, each, r)
	if a, b := hostir.PrintNode(one), hostir.PrintNode(two); a == b || !strings.Contains(b, ", R)") {
		t.Errorf("with a tensor it prints\n%s\nand without\n%s", b, a)
	}
}

// A kernel that makes rows sends what it makes, in order and once.
func TestSentRows(t *testing.T) {
	main, norm, quantise := hostir.Stream("main"), schedule.RMSNorm("w").Tree(), schedule.Quantise().Tree()
	apply := hostir.MakeOf(main, "f", []schedule.Expr{norm, quantise}, hostir.Const(8), hostir.Whole("Q"),
		hostir.Whole("A"), hostir.Whole("w"))
	apply = of(apply, func(x *hostir.Apply) { x.Scales = hostir.Whole("S") })
	apply.Applies = []hostir.Function{{Op: 1}}
	gather := func(result string) hostir.Step {
		landing := hostir.Buffer{Name: "landed" + result, Lands: hostir.Landing{Flags: "arrived" + result}}
		return hostir.GatherPackets(main, hostir.Whole("all"+result), landing, hostir.Whole(result).EachRank())
	}
	sending := func(s hostir.Step, results ...string) hostir.Step {
		x := hostir.PacketRows{Make: apply.Do.(hostir.Apply)}
		for _, r := range results {
			next, ok := x.Sending(s, gather(r))
			if !ok {
				t.Fatalf("no kernel sends %s", r)
			}
			s, x = next, next.Do.(hostir.PacketRows)
		}
		return s
	}
	both := sending(apply, "S", "Q")
	if x := both.Do.(hostir.PacketRows); x.Spread[0].To.Buffer != "allQ" || !x.SendsScales(x.Spread[1]) ||
		x.SendsScales(x.Spread[0]) || both.Pre[0].Semaphore != "arrivedQ" || both.Pre[3].Semaphore != "arrivedS" ||
		len(both.Applies) != 1 || x.Gathers()[1].To.Buffer != "allS" {
		t.Errorf("codes and scales are sent as\n%s", hostir.PrintNode(both))
	}
	if _, ok := (hostir.PacketRows{Make: apply.Do.(hostir.Apply)}).Sending(apply, gather("A")); ok {
		t.Error("a kernel sends what it does not make")
	}
	with := func(change func(*hostir.PacketRows)) hostir.Step {
		return of(both, func(x *hostir.PacketRows) {
			x.Spread = slices.Clone(x.Spread)
			change(x)
		})
	}
	elements := hostir.MakeOf(main, "g", []schedule.Expr{schedule.Scale(2).Tree()}, hostir.Const(8), hostir.Whole("Q"),
		hostir.Whole("A"))
	widened := func(columns int64, to hostir.View, x string, e schedule.Expr, operands ...hostir.View) hostir.Step {
		f := hostir.MakeOf(main, "h", []schedule.Expr{e}, hostir.Const(columns), to, hostir.Whole(x), operands...)
		return of(both, func(x *hostir.PacketRows) { x.Then = f.Do.(hostir.Apply) })
	}
	c, scales, widen := hostir.Whole("C"), hostir.Whole("allS"), schedule.Dequantise("S").Tree()
	if reads, _ := widened(8, c, "allQ", widen, scales).Views(); len(reads) != 2 {
		t.Errorf("a kernel that widens what it gathers reads %s", reads)
	}
	for _, test := range []struct {
		name  string
		step  hostir.Step
		wrong string
	}{
		{"widened", widened(8, c, "allQ", widen, scales), ""},
		{"widened by rows of another length", widened(4, c, "allQ", widen, scales), "formulas of each element"},
		{"a part of what is widened", widened(8, hostir.Chunk("C", hostir.Rank), "allQ", widen, scales),
			"formulas of each element"},
		{"scales that are widened", widened(8, c, "allS", schedule.Scale(2).Tree()), "formulas of each element"},
		{"a norm of all rows", widened(8, c, "allQ", norm, hostir.Whole("w")), "formulas of each element"},
		{"codes and scales", both, ""},
		{"scales alone", sending(apply, "S"), ""},
		{"another order", with(func(x *hostir.PacketRows) { slices.Reverse(x.Spread) }), "in order and once"},
		{"a result twice", with(func(x *hostir.PacketRows) { x.Spread[1] = x.Spread[0] }), "in order and once"},
		{"another tensor", with(func(x *hostir.PacketRows) { x.Spread[0].Each.Buffer = "A" }), "in order and once"},
		{"nothing", with(func(x *hostir.PacketRows) { x.Spread = nil }), "has something to send"},
		{"elements", with(func(x *hostir.PacketRows) {
			x.Make, x.Spread = elements.Do.(hostir.Apply), x.Spread[:1]
		}), "makes whole rows"},
	} {
		checked(t, test.name, test.step, test.wrong)
	}
}

// checked holds what the check of a step says; wrong is empty where the step is right.
func checked(t *testing.T, name string, step hostir.Step, wrong string) {
	t.Helper()
	err := hostir.Check([]hostir.Node{step})
	if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
		t.Errorf("%s: %v, want %q", name, err, wrong)
	}
}

// The owners of rows send parts of what their kernel makes, in order and once.
func TestOwners(t *testing.T) {
	main, to := hostir.Stream("main"), hostir.Buffer{Name: "landed", Lands: hostir.Landing{Flags: "arrived"}}
	each, r, norm := hostir.Whole("A").EachRank(), hostir.Whole("R"), schedule.RMSNorm("w").Tree()
	own, back := hostir.Chunk("C", hostir.Rank), hostir.Buffer{Name: "back", Lands: hostir.Landing{Flags: "returned"}}
	owners := func(change func(*hostir.PacketSpread)) hostir.Step {
		made := hostir.MakeOf(main, "f", []schedule.Expr{norm}, hostir.Const(8), hostir.Chunk("Y", hostir.Rank), own,
			hostir.Whole("w"))
		return of(hostir.SpreadPackets(main, "C", to, back, each, r).Spreading(back), func(p *hostir.PacketSpread) {
			p.Sum.Then = made.Do.(hostir.Apply)
			p.Spread = append(p.Spread, hostir.SpreadOf("Y", back))
			change(p)
		})
	}
	for _, test := range []struct {
		name  string
		step  hostir.Step
		wrong string
	}{
		{"owners", owners(func(*hostir.PacketSpread) {}), ""},
		{"owners of the norm alone", owners(func(p *hostir.PacketSpread) { p.Spread = p.Spread[1:] }), ""},
		{"owners in another order", owners(func(p *hostir.PacketSpread) {
			slices.Reverse(p.Spread)
		}), "in order and once"},
		{"a result that nobody makes", owners(func(p *hostir.PacketSpread) {
			p.Spread[1] = hostir.SpreadOf("Z", back)
		}), "in order and once"},
		{"another rank's part", owners(func(p *hostir.PacketSpread) {
			p.Spread[1].Each.Index = hostir.Const(0)
		}), "in order and once"},
		{"nothing to spread", owners(func(p *hostir.PacketSpread) { p.Spread = nil }), "has something to spread"},
	} {
		checked(t, test.name, test.step, test.wrong)
	}
}
