package emit

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ line, want string }{
		{"f(" + long + ", b)", "f(" + long + ", b)"},
		{"\tf(" + long + ", " + long + ", c)", "\tf(" + long + ",\n\t\t" + long + ", c)"},
		{"f(g(a, b), " + long + ", h(" + long + ", d))", "f(g(a, b), " + long + ",\n\th(" + long + ", d))"},
		{"f(\"a, " + long + "\", " + long + ")", "f(\"a, " + long + "\",\n\t" + long + ")"},
		{"f(" + strings.Repeat(long+", ", 3) + "d)", "f(" + long + ",\n\t" + long + ",\n\t" + long + ", d)"},
		{"f(g(a, h(" + long + ", " + long + ")), " + long + ")",
			"f(g(a,\n\th(" + long + ",\n\t" + long + ")),\n\t" + long + ")"},
		{"f(\"" + long + " " + long + "\")", "f(\"" + long + " \" +\n\t\"" + long + "\")"},
		{"\tx)), " + long + ", g(" + long + ")}", "\tx)), " + long + ",\n\t\tg(" + long + ")}"},
		{"// f(" + long + ", " + long + ")", "// f(" + long + ", " + long + ")"},
		{"f(" + long + long + ")", "f(" + long + long + ")"},
		{"k(" + long + ").g(a(b).c(d)).h(" + long + ", b)", "k(" + long + ").g(a(b).c(d)).\n\th(" + long + ", b)"},
		{"k(" + long + ") }).g(" + long + ", b)", "k(" + long + ") }).\n\tg(" + long + ", b)"},
		{"\t\t\tf(" + long + ", " + long[:47] + ")", "\t\t\tf(" + long + ",\n\t\t\t\t" + long[:47] + ")"},
		{"\t\t\tf(" + long + ", " + long[:43] + ")", "\t\t\tf(" + long + ", " + long[:43] + ")"},
	} {
		if got := string(fold([]byte(c.line + "\n"))); got != c.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

func TestFoldLines(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ line, want string }{
		{long, long},
		{"  " + long + ", then " + long + " by", "  " + long + ", then\n      " + long + " by"},
		{long + long, long + long},
	} {
		if got := foldLines(c.line + "\n"); got != c.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

func TestFoldRemarks(t *testing.T) {
	work, remark := strings.Repeat("w", 90), "# "+strings.Repeat("r", 20)
	for _, c := range []struct{ line, want string }{
		{"main: Post" + strings.Repeat(" ", 20) + remark, "main: Post" + strings.Repeat(" ", 20) + remark},
		{work + strings.Repeat(" ", 20) + remark, work + "  " + remark},
		{"  " + work + "www  " + remark + "rr", "  " + work + "www\n    " + remark + "rr"},
		{work + work, work + work},
	} {
		if got := foldRemarks(c.line + "\n"); got != c.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}
