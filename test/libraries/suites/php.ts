/** The suite of a PHP library: what the library depends on is Debian's (`php-cli`, `phpunit` and others). */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { film, picture, soundOf } from '../../service/files.ts'
import { Missing } from '../toolchains.ts'
import { reported } from './outcomes.ts'
import { recorded, webp } from './scene.ts'
import { run, type Suite } from './suite.ts'

const guzzle = '/usr/share/php/GuzzleHttp/autoload.php'
const needed = ['dom', 'curl', 'mbstring']

/** In place of the one that Composer would write: each class is in the file of its name. */
const autoload = `<?php
require '${guzzle}';
spl_autoload_register(function ($class) {
    $places = ['WeStacks\\\\TeleBot\\\\Tests\\\\' => 'tests/', 'WeStacks\\\\TeleBot\\\\' => 'src/'];
    foreach ($places as $prefix => $folder) {
        $name = str_replace('\\\\', '/', substr($class, strlen($prefix)));
        $file = __DIR__ . '/../' . $folder . $name . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
            return;
        }
    }
});
`

/** Rejects with `Missing` where PHP has not what the library and its tests depend on. */
async function lookForPackages(folder: string): Promise<void> {
  const lacking = `
    $lacking = array_filter(${JSON.stringify(needed)}, fn ($name) => !extension_loaded($name));
    echo implode(' ', is_file('${guzzle}') ? $lacking : [...$lacking, 'php-guzzlehttp-guzzle']);`
  const { stdout, stderr } = await run(['php', '-r', lacking], folder)
  if (stdout || stderr) throw new Missing(`PHP lacks ${stdout}${stderr}`)
}

export const westacksTelebot: Suite = {
  name: 'westacks/telebot',
  title: '[westacks/telebot](https://github.com/westacks/telebot), in PHP',
  source: 'checkout `3.4.1`',
  changed: ['tests/Feature'],
  run: async (folder, env) => {
    await lookForPackages(folder)
    await mkdir(join(folder, 'vendor'))
    await writeFile(join(folder, 'vendor/autoload.php'), autoload)
    const words = ['--no-configuration', '--bootstrap', 'tests/bootstrap.php']
    return reported(
      ['phpunit', ...words, '--log-junit', 'report.xml', 'tests/Feature'],
      folder,
      env,
    )
  },
  async prepare(scene) {
    const { service, ada, bot, key, chat, asAda, files, served } = scene
    const group = await chat({})
    served.set('.webp', await webp(512))
    served.set('.mp3', await recorded('mp3', soundOf.mp3))
    served.set('.ogg', await recorded('ogg', soundOf.ogg))
    served.set('.mp4', await recorded('mp4', film))
    served.set('.gif', await recorded('gif', film))
    const photo = await picture(640, 640)
    await asAda('PUT', '/photo', { data: photo.toString('base64') })
    const set = `fox_by_${bot.username}`
    await scene.newStickerSet(set, { bytes: await webp(512) })
    return {
      env: {
        TELEGRAM_API_URL: `${service.url}/bot{TOKEN}/{METHOD}`,
        TELEGRAM_BOT_TOKEN: key,
        TELEGRAM_USER_ID: `${ada.id}`,
        TELEGRAM_CHAT_ID: `${group}`,
      },
      replaced: [
        ['https://google.com/webhook', 'https://127.0.0.1:9'],
        ['https://placehold.co', files],
        [/https:\/\/(file-examples|media\.giphy|raw\.githubusercontent)\.com/g, files],
        ['pappy_fox', set],
      ],
    }
  },
}
