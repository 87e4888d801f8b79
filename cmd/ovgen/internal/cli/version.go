package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"ovgen/cmd/ovgen/internal/module"
)

var versionVerb = &verb{
	name:  "version",
	short: "print which ovgen this is",
	long: `version prints the version of ovgen's module, the commit that it was built from where
the build knows it, the version of Go and the platform.`,
	examples: []string{"ovgen version", "go tool ovgen version"},
	run:      func(c *call) error { return version(c.stdout) },
}

// version prints the build's version in one line.
func version(w io.Writer) error {
	text := "ovgen"
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " " + moduleVersion(info)
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; commit != "" {
			text += " " + commit
			if settings["vcs.modified"] == "true" {
				text += " (modified)"
			}
		}
	}
	_, err := fmt.Fprintf(w, "%s, %s %s/%s\n", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// moduleVersion is the version of this command's module, also if the command is a tool of another module.
func moduleVersion(info *debug.BuildInfo) string {
	if info.Main.Path == module.Path {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module.Path {
			return m.Version
		}
	}
	return "(devel)"
}
