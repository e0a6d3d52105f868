module semdex.test/load

go 1.25
