module chapar.test/mellium

go 1.18

require (
	mellium.im/sasl v0.3.1
	mellium.im/xmlstream v0.15.4
	mellium.im/xmpp v0.21.4
)

require (
	golang.org/x/crypto v0.5.0 // indirect
	golang.org/x/mod v0.7.0 // indirect
	golang.org/x/net v0.5.0 // indirect
	golang.org/x/sys v0.4.0 // indirect
	golang.org/x/text v0.6.0 // indirect
	golang.org/x/tools v0.5.0 // indirect
	mellium.im/reader v0.1.0 // indirect
)
