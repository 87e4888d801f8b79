package templates

import (
	"strings"
	"testing"
)

// TestOrderOfCopies holds the calls that order copies of boxes, and their instructions, at their places in the text.
func TestOrderOfCopies(t *testing.T) {
	headers, err := Headers()
	if err != nil {
		t.Fatal(err)
	}
	list := transportList()
	for _, k := range list {
		if !k.Multiplies() {
			continue
		}
		text, err := Render(device(k).Source()...)
		if err != nil {
			t.Fatal(err)
		}
		_, cores, found := strings.Cut(string(text.Bytes), "#else  // the tensor cores\n")
		if !found {
			t.Fatalf("the kernels do wrong: %s %d has no tensor cores", k.Kind, k.Number)
		}
		source := string(text.Bytes) + string(headers["hopper.h"])
		for _, places := range [][]string{
			{"store_matrices(to", "shared_written();", "meet(group, 128);", "store_box(c", "consume("},
			{"DEVICE void copies_see()", "fence.proxy.async;", "}"},
			{"DEVICE void shared_written()", "fence.proxy.async.shared::cta;", "}"},
			{"DEVICE void boxes_written()", "cp.async.bulk.wait_group 0;", "}"},
			{"DEVICE void boxes_left()", "cp.async.bulk.wait_group.read %0;", "}"},
			{"init(m);", "load_first(", "if (threadIdx.x < 128)", "end(p);"},
			{"DEVICE void init(", "barrier_init(m.full", "barriers_ready();", "}\n\n"},
		} {
			inOrder(t, source[strings.Index(source, "#else  // the tensor cores"):], places)
		}
		inOrder(t, cores, []string{"void consume(", "store<E>(c", "boxes_left<0>();", "DEVICE void run("})
		if k.Scatters() {
			inOrder(t, cores, []string{"void consume(", "await_slot(p", "store<E>(c", "boxes_written();",
				"leave(p, tile.ahead, releases);", "boxes_left<0>();"})
			inOrder(t, source, []string{"await_slot(const", "await_word(p.pre_wait[ahead - 1]);", "copies_see();", "}"})
			inOrder(t, source, []string{"await_terms(const", "await_word(p.post_wait[i]);", "copies_see();", "}\n\n"})
		} else {
			inOrder(t, source, []string{"await_shard(const", "await_word(there(p, ahead));", "copies_see();", "}\n\n"})
		}
	}
}

// inOrder expects pieces of text behind each other: behind the first, each stands before what ends the list.
func inOrder(t *testing.T, text string, pieces []string) {
	t.Helper()
	last := len(pieces) - 1
	_, text, _ = strings.Cut(text, pieces[0])
	text, _, _ = strings.Cut(text, pieces[last])
	for _, piece := range pieces[1:last] {
		_, after, found := strings.Cut(text, piece)
		if !found {
			t.Errorf("the kernels do wrong: %q does not stand behind %q and before %q", piece, pieces[0], pieces[last])
			return
		}
		text = after
	}
}
