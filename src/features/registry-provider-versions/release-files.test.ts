import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { addKey, createProvider, createVersion, makeKey, put, sha256 } from '../../../test/registry.ts'

onEachDialect('release files of a version', (server) => {
  const draft = async () => {
    const organization = await server.organization()
    const path = await createProvider(organization, 'demo')
    const key = await addKey(organization, await makeKey())
    const { links, id } = await createVersion(organization.owner, path, '1.0.0', key)
    const show = async () => (await organization.owner.get(`${path}/versions/1.0.0`)).body.data
    return {
      organization,
      path,
      key,
      id,
      shasumsUrl: links['shasums-upload'] as string,
      signatureUrl: links['shasums-sig-upload'] as string,
      show,
    }
  }

  const SHASUMS = Buffer.from(`${sha256('a')}  terraform-provider-demo_1.0.0_linux_amd64.zip\n`)

  test('flip their flags, and turn upload links into download links', async () => {
    const { key, shasumsUrl, signatureUrl, show } = await draft()
    const signature = await key.sign(SHASUMS)
    expect(await put(shasumsUrl, SHASUMS)).toMatchObject({ status: 200, text: '' })
    const half = await show()
    expect(half.attributes).toMatchObject({ 'shasums-uploaded': true, 'shasums-sig-uploaded': false })
    expect(Object.keys(half.links).sort()).toEqual(['docs-upload', 'shasums-download', 'shasums-sig-upload'])
    expect((await put(signatureUrl, signature, { 'content-type': 'text/plain' })).status).toBe(200)
    const { attributes, links } = await show()
    expect(attributes).toMatchObject({ 'shasums-uploaded': true, 'shasums-sig-uploaded': true })
    expect(Object.keys(links).sort()).toEqual(['docs-upload', 'shasums-download', 'shasums-sig-download'])
    for (const [url, bytes, name] of [
      [links['shasums-download'], SHASUMS, 'terraform-provider-demo_1.0.0_SHA256SUMS'],
      [links['shasums-sig-download'], signature, 'terraform-provider-demo_1.0.0_SHA256SUMS.sig'],
    ]) {
      expect(url.endsWith(`/${name}`)).toBe(true)
      const response = await fetch(url)
      expect(response.status).toBe(200)
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
    }
  })

  test('may come in either order, the signature armored or not', async () => {
    const { key, shasumsUrl, signatureUrl, show } = await draft()
    expect((await put(signatureUrl, await key.signArmored(SHASUMS))).status).toBe(200)
    expect((await put(shasumsUrl, SHASUMS)).status).toBe(200)
    const { links } = await show()
    const stored = Buffer.from(await (await fetch(links['shasums-sig-download'])).arrayBuffer())
    // Binary: an OpenPGP packet begins with its high bit set, and clients refuse armor.
    expect((stored[0] as number) & 0x80).toBe(0x80)
  })

  test('refuse SHA256SUMS that clients choke on, and the link stays usable', async () => {
    const { shasumsUrl, show } = await draft()
    const line = SHASUMS.toString().trimEnd()
    const cases: [string, RegExp][] = [
      ['', /empty/],
      [`${line}\n\n`, /line 2 is blank/],
      [`${line}\n\n${line.replace('linux', 'darwin')}\n`, /line 2 is blank/],
      [`# comment\n${line}\n`, /line 1 is not/],
      [line.replace('  ', ' *'), /line 1 is not/],
      [line.replace('terraform', './terraform'), /line 1 is not/],
      [`SHA256 (x.zip) = ${sha256('a')}\n`, /line 1 is not/],
      [line.slice(1), /line 1 is not/],
      [`${line}\n${line}\n`, /line 2 lists .* a second time/],
      [Buffer.alloc(65_537, 'a').toString(), /larger than 65536 bytes/],
    ]
    for (const [content, reason] of cases) {
      const answer = await put(shasumsUrl, content)
      expect([content.slice(0, 20), answer.status]).toEqual([
        content.slice(0, 20),
        content.length > 65_536 ? 413 : 422,
      ])
      expect(answer.headers.get('content-type')).toBe('application/vnd.api+json')
      expect(answer.body.errors).toMatchObject([{ detail: expect.stringMatching(reason) }])
    }
    expect((await show()).attributes['shasums-uploaded']).toBe(false)
    expect((await put(shasumsUrl, SHASUMS)).status).toBe(200)
  })

  test.each(['shasums first', 'signature first'])(
    'refuse a signature that does not fit: %s',
    async (order) => {
      const { key, shasumsUrl, signatureUrl, show } = await draft()
      const fitting = await key.sign(SHASUMS)
      const unfitting = await key.sign(Buffer.from('something else'))
      const foreign = await (await makeKey()).sign(SHASUMS)
      expect((await put(signatureUrl, foreign)).body.errors[0].detail).toMatch(
        /not made by the version's key/,
      )
      for (const garbage of ['', 'garbage', key.armor, SHASUMS]) {
        const answer = await put(signatureUrl, garbage)
        expect(answer.status).toBe(422)
        expect(answer.body.errors[0]).toMatchObject({
          status: '422',
          detail: expect.stringMatching(/not a detached/),
        })
      }
      if (order === 'shasums first') {
        expect((await put(shasumsUrl, SHASUMS)).status).toBe(200)
        const answer = await put(signatureUrl, unfitting)
        expect(answer.status).toBe(422)
        expect(answer.body.errors[0].detail).toMatch(/does not fit/)
        expect((await show()).attributes['shasums-sig-uploaded']).toBe(false)
        expect((await put(signatureUrl, fitting)).status).toBe(200)
      } else {
        expect((await put(signatureUrl, fitting)).status).toBe(200)
        const answer = await put(shasumsUrl, SHASUMS.toString().replace('linux', 'other'))
        expect(answer.status).toBe(422)
        expect((await show()).attributes['shasums-uploaded']).toBe(false)
        expect((await put(shasumsUrl, SHASUMS)).status).toBe(200)
      }
      expect((await show()).attributes).toMatchObject({
        'shasums-uploaded': true,
        'shasums-sig-uploaded': true,
      })
    },
  )

  test('are uploaded once: the same bytes again are fine, others are a conflict', async () => {
    const { key, shasumsUrl, signatureUrl } = await draft()
    const signature = await key.sign(SHASUMS)
    for (const [url, bytes] of [
      [shasumsUrl, SHASUMS],
      [signatureUrl, signature],
    ] as const) {
      expect((await put(url, bytes)).status).toBe(200)
      expect((await put(url, bytes)).status).toBe(200)
    }
    const conflict = await put(shasumsUrl, `${sha256('b')}  terraform-provider-demo_1.0.0_linux_amd64.zip\n`)
    expect(conflict).toMatchObject({ status: 409, body: { errors: [{ status: '409', title: 'conflict' }] } })
    expect(await put(signatureUrl, await key.sign(SHASUMS)).then(({ status }) => status)).toSatisfy(
      (status) => status === 409 || status === 200,
    )
  })

  test('race: of two different SHA256SUMS exactly one is taken', async () => {
    const { shasumsUrl } = await draft()
    const contents = [1, 2, 3, 4].map(
      (n) => `${sha256(String(n))}  terraform-provider-demo_1.0.0_linux_amd64.zip\n`,
    )
    const answers = await Promise.all(contents.map((content) => put(shasumsUrl, content)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409, 409])
  })

  test('race: SHA256SUMS and a signature over other bytes are never both taken', async () => {
    const { key, shasumsUrl, signatureUrl } = await draft()
    const unfitting = await key.sign(Buffer.from('something else'))
    const answers = await Promise.all([put(shasumsUrl, SHASUMS), put(signatureUrl, unfitting)])
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 422])
  })

  test('have links that nobody can forge, stretch, or use for something else', async () => {
    const { organization, path, shasumsUrl, signatureUrl } = await draft()
    const parts = shasumsUrl.split('/')
    const altered = (index: number, value: string) => parts.with(index, value).join('/')
    const [kind, id, expires, signature] = [4, 5, 6, 7].map((index) => parts[index] as string)
    for (const url of [
      altered(4, 'provider-shasums-sig'),
      altered(5, 'provver-0000000000000000'),
      altered(6, String(Number(expires) + 1)),
      altered(7, `${signature?.startsWith('A') ? 'B' : 'A'}${signature?.slice(1)}`),
      altered(7, 'short'),
    ]) {
      expect((await put(url, SHASUMS)).status).toBe(404)
    }
    expect((await fetch(shasumsUrl)).status).toBe(404)
    expect(Number(expires) - Date.now() / 1000).toBeGreaterThan(24 * 3600)
    expect([kind, id]).toEqual(['provider-shasums', expect.stringMatching(/^provver-/)])
    expectStatus(await organization.owner.delete(`${path}/versions/1.0.0`), 204)
    expect((await put(shasumsUrl, SHASUMS)).status).toBe(404)
    expect((await put(signatureUrl, 'x')).status).toBe(404)
  })

  test('leave no trace of their links in the log', async () => {
    const { shasumsUrl } = await draft()
    await put(shasumsUrl, SHASUMS)
    expect(server.logLines.join('')).toContain('/storage/provider-shasums/:id/:expires/:signature')
    expect(server.logLines.join('')).not.toContain(shasumsUrl.split('/').at(-1))
  })
})
