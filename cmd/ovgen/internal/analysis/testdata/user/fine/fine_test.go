package fine

import s "ovgen/schedule"

var Wrong = s.Schedule{Types: []s.Type{"wrong"}}
