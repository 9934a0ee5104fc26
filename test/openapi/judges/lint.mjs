/** Prints what Spectral and Redocly find in the document that comes in, a line for each: linter, rule, place. */
import { text } from 'node:stream/consumers'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'

const source = await text(process.stdin)
const linter = new spectral.Spectral()
linter.setRuleset({ extends: [[rulesets.oas, 'all']] })
for (const { code, path, message } of await linter.run(JSON.parse(source))) {
  process.stdout.write(`spectral ${code} ${path.join('/')}: ${message}\n`)
}
const config = await createConfig({ extends: ['recommended-strict'] })
for (const found of await lintFromString({ source, absoluteRef: 'openapi.json', config })) {
  process.stdout.write(`redocly ${found.ruleId} ${found.location[0]?.pointer}: ${found.message}\n`)
}
