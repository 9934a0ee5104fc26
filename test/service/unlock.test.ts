/** The operator's command that lets somebody sign in again. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ask } from '../support/client.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)

const unlock = (phone: string) => {
  const env = {
    ...process.env,
    DATABASE_URL: service.databaseUrl,
    KEY_FILE: join(service.dataDir, 'keys'),
  }
  return promisify(execFile)(process.execPath, ['src/operator/unlock.ts', phone], { env })
}

t.test('a phone that wrong codes have locked is open again', async (t) => {
  const phone = '+14155550177'
  const send = () => ask(service.url, 'POST', '/auth/sendOtp', { phone })
  const login = (otp: string) => ask(service.url, 'POST', '/auth/login', { phone, otp })
  for (let n = 0; n < 10; n++) {
    if (n % 5 === 0) {
      // The console's sender asks for two seconds between codes.
      while ((await send()).status === 429) await new Promise((done) => setTimeout(done, 500))
    }
    const code = n % 5 === 0 ? await service.code(phone) : '000000'
    await login(n % 5 === 0 ? String((Number(code) + 1) % 1_000_000).padStart(6, '0') : code)
  }
  while ((await send()).status === 429) await new Promise((done) => setTimeout(done, 500))
  const code = await service.code(phone)
  t.match(await login(code), { status: 429 })
  const { stdout } = await unlock(phone)
  t.equal(stdout, `${phone} may sign in again; 10 wrong codes are forgotten.\n`)
  t.match(await login(code), { status: 200 })
})

t.test('what is no phone is told how to use it', async (t) => {
  await t.rejects(unlock('nobody'), { code: 2, stderr: /^usage: .* unlock \+/ })
})
