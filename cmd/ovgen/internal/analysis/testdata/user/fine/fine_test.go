package fine

import s "ovgen/schedule"

var Wrong = s.Schedule{Op: "wrong"}
