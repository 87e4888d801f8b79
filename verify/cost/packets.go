package cost

import (
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// packets changes the operations of kernels of packets to what such kernels do: a rank sends to all peers, and stores,
// at the same time, and takes packets as it reads them.
func packets(list []ops.Op) (out []ops.Op) {
	for _, o := range list {
		switch last := len(out) - 1; {
		case o.Kind == ops.Take:
		case last >= 0 && o.Kind == ops.Copy && hostir.Takes(o.Kernel) && sameLaunch(out[last], o):
			out[last].Uses = join(out[last].Uses, o.Uses)
		default:
			out = append(out, o)
		}
	}
	return out
}

// sameLaunch reports whether both are copies of one launch.
func sameLaunch(a, b ops.Op) bool {
	return a.Kind == b.Kind && a.Kernel == b.Kernel && a.Stream == b.Stream && a.Step == b.Step && a.Part == b.Part
}

// join lists the uses of both: memory that both read is read once.
func join(a, b []ops.Use) []ops.Use {
	a = slices.Clone(a)
	for _, u := range b {
		if !slices.Contains(a, u) {
			a = append(a, u)
		}
	}
	return a
}

// flags posts and awaits the words of packets. The words are in the packets: they are there when the data are, and a
// kernel that reads the data resets them.
func (st *stream) flags(words []ops.Word, done func()) {
	for i, w := range words {
		set := func() { st.s.set(w) }
		switch {
		case w.Write && w.At.Rank != st.rank.number:
			st.s.after(st.s.l.Visible, set)
		case w.Write:
			set()
		case st.s.words[w.At] != w.Value:
			st.s.waiting[w.At] = append(st.s.waiting[w.At], func() {
				st.s.after(st.s.l.Poll, func() { st.flags(words[i:], done) })
			})
			return
		}
	}
	done()
}
