import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'
import { put } from '../../../test/registry.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { type Entries, makeSlug, newConfigurationVersion } from '../../../test/slugs.ts'

const link = (name: string, linkname: string) => ({ name, linkname, type: 'symlink' as const })

onEachDialect(
  'archives of configurations',
  (server) => {
    const upload = async (slug: Buffer | string) => {
      const { owner, path } = await server.organization()
      const { id } = await newWorkspace(owner, path)
      const { attributes, links } = await newConfigurationVersion(owner, id)
      const answer = await put(attributes['upload-url'], slug)
      const shown = (await owner.get(links.self)).body.data.attributes
      const again = await put(attributes['upload-url'], await makeSlug())
      return { answer, shown, again }
    }

    const refused: Record<string, Entries> = {
      '../main.tf is not a path': { '../main.tf': '' },
      'a/../../main.tf is not a path': { 'a/../../main.tf': '' },
      '/etc/passwd is not a path': { '/etc/passwd': '' },
      'a is a link that leads out': [link('a', '/etc')],
      'b is a link that leads out': [link('b', '../b')],
      'c/d is a link that leads out': [link('c/d', '../..')],
      'g is a link that leads out': [link('p/f', '../x'), link('g', 'p/f/../..')],
      'h/i lies below a link': [link('h', 'x'), { name: 'h/i' }],
      'p/q/e/l lies below a link': [link('p/q/e', '../../x'), link('p/q/e/l', '../..')],
      '/etc/shadow is not a path': [{ name: 'm', linkname: '/etc/shadow', type: 'link' }],
      'n is neither a file': [{ name: 'n', type: 'fifo' }],
      'o is neither a file': [{ name: 'o', type: 'character-device' }],
    }

    test.each(Object.entries(refused))('are refused: %s', async (message, entries) => {
      const { answer, shown, again } = await upload(await makeSlug(entries))
      expect([answer.status, answer.body.errors[0].detail]).toEqual([422, expect.stringContaining(message)])
      expect(shown).toMatchObject({
        status: 'errored',
        error: 'invalid_archive',
        'error-message': answer.body.errors[0].detail,
        'status-timestamps': { 'errored-at': expect.any(String) },
      })
      expect(again.status).toBe(409)
    })

    test.each([
      ['nothing', ''],
      ['text', 'resource "terraform_data" "a" {}'],
      ['a file that is gzipped and no tar archive', gzipSync('x'.repeat(10_000))],
    ])('are refused: %s', async (_name, slug) => {
      const { answer, shown } = await upload(slug)
      expect(answer.status).toBe(422)
      expect(shown.status).toBe('errored')
    })

    test('are refused when they end too soon', async () => {
      const slug = await makeSlug({ 'main.tf': Math.random().toString().repeat(1000), 'b.tf': '' })
      const { answer } = await upload(slug.subarray(0, slug.length - 100))
      expect(answer.status).toBe(422)
    })

    test('are refused when they unpack to far more than they are', async () => {
      const { answer } = await upload(await makeSlug({ bomb: Buffer.alloc(200 * 2 ** 20) }))
      expect([answer.status, answer.body.errors[0].detail]).toEqual([
        422,
        expect.stringContaining('unpacks to more than'),
      ])
    })

    test('are refused when they are larger than allowed, which can be mended', async () => {
      const { answer, shown, again } = await upload(Buffer.alloc(2 ** 20 + 1))
      expect([answer.status, shown.status, again.status]).toEqual([413, 'pending', 200])
    })

    test('may have links that stay inside', async () => {
      const { answer, shown } = await upload(
        await makeSlug([
          { name: './', type: 'directory' },
          { name: './main.tf' },
          { name: 'modules/a/', type: 'directory' },
          link('modules/b', 'a'),
          link('modules/a/up', '../../main.tf'),
          link('here', './modules'),
          { name: 'copy.tf', linkname: 'main.tf', type: 'link' },
        ]),
      )
      expect([answer.status, shown.status]).toEqual([200, 'uploaded'])
    })
  },
  { PLINTH_MAX_UPLOAD_BYTES: String(2 ** 20) },
)
