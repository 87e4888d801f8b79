package timeline_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"ovgen/verify/timeline"
)

var spans = []timeline.Span{
	{Rank: 0, Stream: "work[1]", Name: "Linear C[1] <1>", Kind: timeline.Product, Start: 40, End: 100},
	{Rank: 0, Stream: "main", Name: "Linear C[0]", Kind: timeline.Product, Start: 5, End: 60},
	{Rank: 0, Stream: "copy", Name: "Set g[1]", Kind: timeline.Copy, Start: 4, End: 38},
	{Rank: 1, Stream: "main", Name: "Wait ready", Kind: timeline.Wait, Start: 0, End: 3},
}

func TestPerfetto(t *testing.T) {
	var b bytes.Buffer
	if err := timeline.Perfetto(&b, spans); err != nil {
		t.Fatal(err)
	}
	var got struct {
		TraceEvents []struct {
			Name, Ph string
			Pid, Tid int
			Ts, Dur  float64
			Args     map[string]string
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	names, total := map[[2]int]string{}, 0.0
	for _, e := range got.TraceEvents {
		switch {
		case e.Ph == "M" && e.Name == "thread_name":
			names[[2]int{e.Pid, e.Tid}] = e.Args["name"]
		case e.Ph == "X":
			total += e.Dur
			for _, s := range spans {
				if s.Name == e.Name &&
					(names[[2]int{e.Pid, e.Tid}] != s.Stream || e.Ts != s.Start ||
						e.Pid != s.Rank) {
					t.Errorf("%s is on %s of %d from %g", e.Name, names[[2]int{e.Pid, e.Tid}],
						e.Pid, e.Ts)
				}
			}
		}
	}
	if len(names) != 4 || total != 60+55+34+3 {
		t.Errorf("%d tracks, %g us", len(names), total)
	}
}

func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := timeline.SVG(&b, timeline.Panel{Title: "hoisted & fast", Spans: spans},
		timeline.Panel{Title: "in loop", Spans: spans[:2]}); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"hoisted &amp; fast", "rank 0 work[1]", "Linear C[1] &lt;1&gt;: 40.0 to 100.0 us",
		"100 us", ">product</text>", ">post</text>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if a, c := strings.Index(b.String(), "rank 0 main"), strings.Index(b.String(), "rank 0 copy"); a > c {
		t.Error("main is not the first stream of its rank")
	}
}
