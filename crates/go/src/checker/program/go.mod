module semdex.test/checker

go 1.25
