package emit

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
	"ovgen/templates"
)

// The most peers that a kernel signals, a thread each, and the most terms that it adds.
const (
	mostPeers = 32
	mostTerms = 64
)

// kinds is the order in which a package lists its kernels.
var kinds = []kernels.Kind{kernels.Wait, kernels.Post, kernels.Copy, kernels.Reduce, kernels.Get, kernels.Put, kernels.Shot}

// table describes the kernels that the program launches, made for it: for the ranks that it was
// proven for, its element types, and what each launch posts, awaits and adds up.
func (u *unit) table() kernels.Table {
	t := kernels.Table{Peers: max(u.maxRanks()-1, 1), Types: u.elementTypes()}
	add := func(k kernels.Kernel) {
		same := func(o kernels.Kernel) bool { return o.Kind == k.Kind && signalsAlike(o, k) }
		i := slices.IndexFunc(t.Kernels, same)
		if i < 0 {
			t.Kernels = append(t.Kernels, k)
			return
		}
		o := &t.Kernels[i]
		o.PreWait, o.PostPost = min(o.PreWait, k.PreWait), min(o.PostPost, k.PostPost) // EachPeer is below 1
		o.Varies = o.Varies || k.Varies || o.Terms != k.Terms
		o.Terms = max(o.Terms, k.Terms)
	}
	hostir.Walk(unfused(u.program.Body), func(n hostir.Node) {
		switch n := n.(type) {
		case hostir.Wait:
			if n.Kernel {
				add(kernels.Kernel{Kind: kernels.Wait, PreWait: kernels.EachPeer})
			}
		case hostir.Post:
			if n.Kernel {
				add(kernels.Kernel{Kind: kernels.Post, PostPost: kernels.EachPeer})
			}
		case hostir.Set:
			if n.Kernel {
				add(kernels.Kernel{Kind: kernels.Copy})
			}
		case hostir.Reduce:
			k := kernels.Kernel{Kind: kernels.Reduce}
			k.Terms, k.Varies = u.termsOf(n.Terms)
			add(k)
		}
	})
	hostir.Walk(expand(u.program.Body), func(n hostir.Node) {
		if n, ok := n.(hostir.LaunchKernel); ok {
			add(u.fused(n))
		}
	})
	slices.SortStableFunc(t.Kernels, func(a, b kernels.Kernel) int { return slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind) })
	for i := range t.Kernels {
		if i > 0 && t.Kernels[i-1].Kind == t.Kernels[i].Kind {
			t.Kernels[i].Number = max(t.Kernels[i-1].Number, 1) + 1
		}
	}
	return t
}

// signalsAlike says whether two kernels post and await at the same places.
func signalsAlike(a, b kernels.Kernel) bool {
	return (a.PrePost != 0) == (b.PrePost != 0) && (a.PreWait != 0) == (b.PreWait != 0) &&
		(a.PostPost != 0) == (b.PostPost != 0) && (a.PostWait != 0) == (b.PostWait != 0)
}

// fused is the kernel of a launch that signals around its work.
func (u *unit) fused(n hostir.LaunchKernel) kernels.Kernel {
	k := kernels.Kernel{Kind: kernels.Kind(n.Name)}
	worked := false
	words := func(peer hostir.Expr) kernels.Words {
		if peer.IsZero() {
			return kernels.EachPeer
		}
		return kernels.One
	}
	for _, inner := range n.Body {
		switch x := inner.(type) {
		case hostir.Post:
			if worked {
				k.PostPost = words(x.Peer)
			} else {
				k.PrePost = words(x.Peer)
			}
		case hostir.Wait:
			if worked {
				k.PostWait = words(x.Peer)
			} else {
				k.PreWait = words(x.Peer)
			}
		case hostir.Reduce:
			worked = true
			k.Terms, k.Varies = u.termsOf(x.Terms)
		default:
			worked = true
		}
	}
	return k
}

// termsOf is how many terms a sum has at most, and whether that varies with the ranks.
func (u *unit) termsOf(list []hostir.Terms) (most int, varies bool) {
	env := hostir.Env{}
	for name, value := range u.program.Constants {
		env[name] = value
	}
	varies = slices.ContainsFunc(list, func(t hostir.Terms) bool { return t.Index != "" })
	for d := range u.maxRanks() {
		for r := range d + 1 {
			env["D"], env["r"] = int64(d+1), int64(r)
			n, ok := countTerms(list, env)
			if !ok {
				return mostTerms, true
			}
			most = max(most, n)
		}
	}
	return most, varies
}

// countTerms is how many terms there are where the variables are bound so.
func countTerms(list []hostir.Terms, env hostir.Env) (n int, ok bool) {
	for _, t := range list {
		if t.Index == "" {
			n++
			continue
		}
		from, err := t.From.Eval(env)
		to, failed := t.To.Eval(env)
		if err != nil || failed != nil {
			return 0, false
		}
		n += int(max(to-from, 0))
	}
	return n, true
}

// maxRanks is how many ranks the kernels serve: as many as the program was proven for.
func (u *unit) maxRanks() int {
	most := mostPeers + 1
	if u.Proof == nil || len(u.Proof.Sizes) == 0 {
		return most
	}
	proven := 1
	for _, s := range u.Proof.Sizes {
		proven = max(proven, s.Ranks)
	}
	return min(proven, most)
}

// elementTypes are those that the schedule takes, as drivers name them.
func (u *unit) elementTypes() (list []driver.Type) {
	for _, t := range u.program.Schedule.Types {
		for _, known := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
			if known.String() == string(t) {
				list = append(list, known)
			}
		}
	}
	return list
}

// sums says whether the package adds up tensors.
func (u *unit) sums() bool { return slices.ContainsFunc(u.kernels.Kernels, kernels.Kernel.Sums) }

// limited says whether the kernels serve a number of ranks only.
func (u *unit) limited() bool {
	return slices.ContainsFunc(u.kernels.Kernels, func(k kernels.Kernel) bool { return k.Kind != kernels.Copy })
}

// deviceCode is the device code of a package with kernels.
func (u *unit) deviceCode() (*device, error) {
	from := "schedule " + u.program.Name
	d := templates.Device{From: from, Table: u.kernels, About: append([]string{
		"The kernels of " + u.program.Name + "'s transport, launched by the host program in program.go:"}, templates.Summary(u.kernels)...)}
	return device{name: u.name, from: from, host: d.Host(), words: d.Words()}.render(d.Source())
}
