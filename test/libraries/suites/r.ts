/** The suite of an R library: what the library depends on is Debian's (`r-base-core`, `r-cran-testthat` and others). */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { film, soundOf } from '../../service/files.ts'
import { Missing } from '../toolchains.ts'
import { reported } from './outcomes.ts'
import { recorded, webp } from './scene.ts'
import { run, type Suite } from './suite.ts'

const tests = `
  reporter <- testthat::JunitReporter$new(file = file.path(getwd(), "report.xml"))
  testthat::test_dir(
    "tests/testthat", package = "telegram.bot", load_package = "installed", reporter = reporter
  )`

export const rTelegramBot: Suite = {
  name: 'telegram.bot',
  title: '[telegram.bot](https://github.com/ebeneditos/telegram.bot), in R',
  source: 'checkout `11965b8` (3.0.2)',
  changed: ['R/bot.R', 'tests/testthat/test-bot.R'],
  run: async (folder, env) => {
    const library = join(folder, 'library')
    await mkdir(library)
    const words = ['CMD', 'INSTALL', '--no-docs', `--library=${library}`, '.']
    const { stderr } = await run(['R', ...words], folder)
    const [, lacking] = /ERROR: (dependenc.*)/.exec(stderr) ?? []
    if (lacking) throw new Missing(lacking)
    return reported(['Rscript', '-e', tests], folder, { ...env, R_LIBS: library })
  },
  async prepare({ service, key, ada, files, served }) {
    served.set('.webp', await webp(512))
    served.set('.pdf', Buffer.from('%PDF-1.5\n'))
    served.set('.mp3', await recorded('mp3', soundOf.mp3))
    served.set('.ogg', await recorded('ogg', soundOf.ogg))
    served.set('.mp4', await recorded('mp4', film))
    served.set('.gif', await recorded('gif', film))
    return {
      env: { TOKEN: key, CHAT_ID: `${ada.id}` },
      replaced: [
        ['https://api.telegram.org', service.url],
        [/"https?:\/\/(telegram\.org|www|techslides|media|upload)[^"]*(?=\/[^/"]+")/g, `"${files}`],
        ['https://github.com', files],
      ],
    }
  },
}
