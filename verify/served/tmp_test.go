package served

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

func TestTmpGreen(t *testing.T) {
	list := "package schedules\n" + declaring
	for _, d := range eights {
		if d.outcome != isServed {
			continue
		}
		text, err := json.Marshal(d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("\nvar %s = of(`%s`)\n", d.id, text)
	}
	u := newModule(t)
	u.write("schedules/decl.go", list)
	u.run(u.repo, "go", "build", "-o", filepath.Join(u.dir, "ovgen"), "./cmd/ovgen")
	u.run(u.dir, filepath.Join(u.dir, "ovgen"), "gen", "-o", "generated", "./schedules")
	u.run(u.dir, "go", "test", "-timeout", "1h", "./generated/programs")
}
