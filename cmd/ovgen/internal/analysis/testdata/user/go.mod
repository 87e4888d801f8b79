module example.com/user

go 1.26.0

require ovgen v0.0.0

replace ovgen => ../../../../../..
