module chapar.test/porcupine

go 1.25.5

require github.com/anishathalye/porcupine v1.3.1
