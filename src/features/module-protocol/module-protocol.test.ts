import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import {
  createModule,
  createModuleVersion,
  deprecation,
  MODULE,
  publishModule,
} from '../../../test/modules.ts'

const MODULES = '/api/registry/v1/modules'

onEachDialect('the module registry protocol', (server) => {
  const published = async () => {
    const organization = await server.organization()
    const { owner, name } = organization
    const path = await createModule(organization)
    const archive = await publishModule(owner, path, '1.0.0')
    return { organization, owner, name, path, archive, base: `${MODULES}/${name}/vpc/aws` }
  }

  test('lists versions and tells where their archives are', async () => {
    const { owner, name, path, archive, base } = await published()
    const files = { ...MODULE, 'modules/inner/main.tf': '', 'README.md': '# VPC' }
    const newer = await publishModule(owner, path, '1.10.0', files)
    await publishModule(owner, path, '2.0.0-rc.1')
    await createModuleVersion(owner, path, '1.9.0')
    expectStatus(await owner.patch(`${path}/1.0.0`, deprecation('Deprecated', { reason: 'Old' })), 200)
    const versions = await owner.get(`${base}/versions`)
    expect(versions.headers.get('content-type')).toMatch(/^application\/json/)
    expect(versions.body).toEqual({
      modules: [
        {
          source: `${name}/vpc/aws`,
          versions: [
            { version: '2.0.0-rc.1', deprecation: null },
            { version: '1.10.0', deprecation: null },
            { version: '1.0.0', deprecation: { reason: 'Old', link: '' } },
          ],
        },
      ],
    })
    const upper = await owner.get(`${MODULES}/${name.toUpperCase()}/VPC/aws/versions`)
    expect(upper.body).toEqual(versions.body)

    for (const [address, expected] of [
      [`${base}/1.0.0/download`, archive],
      [`${base}/1.10.0/download`, newer],
      [`${base}/download`, newer],
    ] as const) {
      const answer = await owner.get(address)
      expect([answer.status, answer.text]).toEqual([204, ''])
      const url = answer.headers.get('x-terraform-get') as string
      expect(url).toMatch(/^http.*\/storage\/module-archive\/.*\.tar\.gz$/)
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
      for (const _time of ['first', 'second']) {
        expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(expected)
      }
    }
  })

  test('describes what a version takes and gives', async () => {
    const { owner, name, path, base } = await published()
    await publishModule(owner, path, '1.1.0', {
      ...MODULE,
      'README.md': '# VPC\n<script>alert(1)</script> <b onclick="x">Bold</b>',
      'modules/inner/main.tf': 'output "id" {\n  description = "Its id"\n  value = 1\n}\n',
      'examples/small/main.tf': '',
    })
    const nothing = {
      readme: '',
      empty: true,
      inputs: [],
      outputs: [],
      dependencies: [],
      provider_dependencies: [],
      resources: [],
    }
    const described = await owner.get(`${base}/1.1.0`)
    expect(described.body).toEqual({
      id: `${name}/vpc/aws/1.1.0`,
      owner: '',
      namespace: name,
      name: 'vpc',
      version: '1.1.0',
      provider: 'aws',
      provider_logo_url: '',
      description: '',
      source: '',
      tag: '',
      published_at: expect.any(String),
      downloads: 0,
      verified: false,
      deprecation: null,
      root: {
        ...nothing,
        path: '',
        name: 'vpc',
        readme: '# VPC\n<script>alert(1)</script> <b onclick="x">Bold</b>',
        readme_html: '<h1 id="doc-vpc">VPC</h1>\n <b>Bold</b>',
        empty: false,
        inputs: [{ name: 'name', type: 'string', description: '', default: '', required: true }],
        outputs: [{ name: 'greeting', description: '' }],
      },
      submodules: [
        {
          ...nothing,
          path: 'modules/inner',
          name: 'inner',
          empty: false,
          outputs: [{ name: 'id', description: 'Its id' }],
        },
      ],
      examples: [{ ...nothing, path: 'examples/small', name: 'small' }],
      providers: ['aws'],
      versions: ['1.0.0', '1.1.0'],
    })
    expect((await owner.get(base)).body).toEqual(described.body)
    expect((await owner.get(`${base}/1.0.0`)).body).toMatchObject({
      version: '1.0.0',
      root: { readme: '', readme_html: '' },
    })
    await publishModule(owner, path, '1.2.0', { ...MODULE, 'README.md': 'x'.repeat(150_000) })
    expect((await owner.get(base)).body.root.readme_html).toBeNull()
  })

  test('shows only what is published, to members only', async () => {
    const { organization, owner, name, path, base } = await published()
    await createModuleVersion(owner, path, '1.1.0')
    await createModule(organization, 'empty')
    const empty = await owner.get(`${MODULES}/${name}/empty/aws/versions`)
    expect(empty.body.modules[0].versions).toEqual([])
    const missing = [
      '1.1.0',
      '1.1.0/download',
      '9.9.9',
      '9.9.9/download',
      '../empty/aws',
      '../empty/aws/download',
    ]
    for (const address of missing) {
      const url = `${base}/${address}`.replace('vpc/aws/../', '')
      expect([address, (await owner.get(url)).status]).toEqual([address, 404])
    }
    const stranger = await server.user()
    for (const address of ['', '/versions', '/download', '/1.0.0', '/1.0.0/download']) {
      expect((await server.nobody.get(base + address)).status).toBe(401)
      expect((await stranger.get(base + address)).status).toBe(404)
    }
    const member = await server.member(organization)
    expect((await member.get(`${base}/1.0.0/download`)).status).toBe(204)
    expect((await member.get(`${MODULES}/${name}/none/aws/versions`)).status).toBe(404)
    const services = await server.nobody.get('/.well-known/terraform.json')
    expect(services.body['modules.v1']).toBe(`${MODULES}/`)
  })
})
