/** The suite of a Ruby library: what the library depends on is Debian's (`ruby-rspec`, `ruby-faraday` and others). */
import { Missing } from '../toolchains.ts'
import { reported } from './outcomes.ts'
import { run, type Suite } from './suite.ts'

const libraries = ['rspec', 'rspec_junit_formatter', 'faraday', 'virtus', 'dry/inflector']

/** The last version whose suite asks the server: later ones play back what it said once. */
export const telegramBotRuby: Suite = {
  name: 'telegram-bot-ruby',
  title: '[telegram-bot-ruby](https://github.com/atipugin/telegram-bot-ruby)',
  source: 'checkout `v0.19.1`',
  changed: ['lib/telegram/bot/api.rb', 'spec'],
  run: async (folder, env) => {
    const wanted = libraries.flatMap((library) => ['-r', library])
    const { stderr } = await run(['ruby', ...wanted, '-e', ''], folder)
    if (stderr) throw new Missing(`Ruby: ${stderr.split('\n')[0]}`)
    const words = ['-I', 'lib', '--format', 'RspecJunitFormatter', '--out', 'report.xml']
    return reported(['rspec', ...words, 'spec'], folder, env)
  },
  prepare: async ({ service, key }) => ({
    env: {},
    replaced: [
      ['https://api.telegram.org', service.url],
      ['180956132:AAHU0_CeyQWOd6baBc9TibTPybxY9p1P8xo', key],
    ],
  }),
}
