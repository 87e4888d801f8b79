package load

import (
	"fmt"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// failure is the reason why the package did not run: a panic of the package, at the position of the user's innermost
// frame, or the go command's message.
func (s *source) failure(err error, stderr string) error {
	message, trace, ok := strings.Cut(stderr, "\ngoroutine ")
	if !ok || !strings.Contains(message, "panic: ") && !strings.Contains(message, "fatal error: ") {
		text := strings.TrimSpace(stderr)
		return fmt.Errorf("evaluate the schedules of %s: %w\n%s", s.pkg.PkgPath, err, text)
	}
	message = strings.TrimSpace(message)
	if i := strings.Index(message, "panic: "); i >= 0 {
		message = message[i:]
	}
	frames := s.frames(trace)
	if len(frames) == 0 {
		return Mistakes{{Msg: message}}
	}
	for _, f := range frames[1:] {
		message += "\n\tcalled at " + f.String()
	}
	return Mistakes{{Pos: frames[0], Msg: message}}
}

// frameForm is the line of a trace that names a file.
var frameForm = regexp.MustCompile(`(?m)^\t(.+\.go:\d+)`)

// frames are the positions in the user's module of a trace's frames.
func (s *source) frames(trace string) []token.Position {
	root := s.dirs()[0]
	if m := s.pkg.Module; m != nil && m.Dir != "" {
		root = m.Dir
	}
	var out []token.Position
	for _, m := range frameForm.FindAllStringSubmatch(trace, -1) {
		pos, ok := parsePosition(m[1])
		inside := strings.HasPrefix(pos.Filename, root+string(filepath.Separator))
		if !ok || !inside || filepath.Base(filepath.Dir(pos.Filename)) == mainFolder {
			continue
		}
		out = append(out, relative(s.dir, pos))
	}
	return out
}
