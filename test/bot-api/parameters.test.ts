/** The parameters that methods are documented with. */
import t from 'tap'
import { methods } from '../../src/bot-api/methods/index.ts'

const parametersOf = (name: string) => Object.keys(methods.get(name.toLowerCase())!.parameters)

t.test('what tells a thing is not asked for it', async (t) => {
  const asked = {
    MyName: ['language_code'],
    MyDescription: ['language_code'],
    MyShortDescription: ['language_code'],
    MyCommands: ['scope', 'language_code'],
    ChatMenuButton: ['chat_id'],
    MyDefaultAdministratorRights: ['for_channels'],
  }
  for (const [name, parameters] of Object.entries(asked)) {
    t.strictSame(parametersOf(`get${name}`), parameters, `get${name}`)
    const more = parametersOf(`set${name}`).filter((one) => !parameters.includes(one))
    t.equal(more.length, 1, `set${name} takes what is set: ${more}`)
  }
})

t.test('whatever is required is among the parameters', async (t) => {
  for (const { name, parameters, required } of methods.values()) {
    t.strictSame(
      required.filter((one) => !(one in parameters)),
      [],
      name,
    )
  }
})
